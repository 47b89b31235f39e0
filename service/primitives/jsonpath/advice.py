"""How to mend a path, by what stands where it cannot go on."""

import re

Advice = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns of the text at the fault, of which the first that fits counts, each with the fix."""


def _table(*rows: tuple[str, str]) -> Advice:
    return tuple((re.compile(pattern), fix) for pattern, fix in rows)


_BLANKS_AROUND = (r"[ \t\r\n]", "Remove the blanks around the path.")
_BARE_FILTER = (r"\?", "Put the filter in brackets, [?@.a == 1].")

ROOT = _table(
    _BLANKS_AROUND,
    (r"@", "Start at '$'; '@' has a meaning only in a filter."),
    (r"[.\[]", "Put '$' in front."),
    (r"\w", "Put '$.' in front."),
)

NAME = _table(
    (r"\[", "Leave out the dot before '['."),
    (r"[0-9]", "Write [0] for an element of an array, ['0'] for a member."),
    (r"['\"]", "Put the quoted name in brackets and leave out the dot, ['name']."),
    _BARE_FILTER,
    (r"\.", "Write at most two dots."),
    (r"[^\s()\]]", "Put a name with such characters in brackets, ['name']."),
)

METHOD = "The only method is .length(); it needs the dialect jayway and cannot follow '..'."

END = _table(
    (r"\(", METHOD),
    _BLANKS_AROUND,
    _BARE_FILTER,
    (r"[\w-]", "Put a dot between names, and a name with such characters in brackets, ['name']."),
)

SELECTOR = _table(
    (r"\]", "Write a selector here, such as * for every child."),
    (r"\(", "Write [-1] for the last element and [?@.a == 1] for a filter; scripts are not supported."),
    (r"-?0", "Write numbers without leading zeros."),
    (r"[@!]", "Start a filter with '?'."),
    (r"[^\W\d]", "Put the name in quotes, ['name']."),
)

_AFTER_TEST = (
    (r"=(?![=~])", "Write == to compare."),
    (r"=~", "Use match() or search(); =~ needs the dialect jayway."),
    (r"[=!<>]", "Compare two values, without parentheses or '!' around one, and join comparisons with && or ||."),
    (
        r"(?i:in|nin|subsetof|anyof|noneof|size|empty|contains|startswith|endswith)\b",
        "This operator is not supported; use ==, &&, ||, !, length() or =~.",
    ),
    (r"(?i:and|or)\b|&|\|", "Write && or ||."),
    (r"[-+*/%]", "Compare values as they are; arithmetic is not supported."),
)

AFTER_SELECTOR = _table(
    (r"\?", "Give the filter brackets of its own, [*][?@.a == 1]."),
    (r"(?<=0)[0-9]", "Write numbers without leading zeros."),
    (r"\)", "Remove this parenthesis, or open it."),
    (r"\.", "Close the bracket before the path goes on."),
    *_AFTER_TEST,
)

IN_PARENTHESES = _table((r"\]", "Close the parenthesis first."), *_AFTER_TEST)

OPERAND = _table(
    (r"[)\]]", "Write a test or a value, such as @.a == 1."),
    (r"[=<>]", "Compare with ==, !=, <, <=, > or >=."),
    (r"[\[{]", "Compare with each value and join the tests with ||; lists and objects are not supported."),
    (r"\.|\+|-\D", "Write numbers as in 0.5 and -1."),
    (r"(?i:true|false|null)\b", "Write true, false and null in lower case."),
    (r"(?i:not)\b", "Write ! to negate."),
    (r"/", "Put a regular expression on the right of =~."),
    (r"[^\W\d]\w*\(", "The functions are length, count, value, match and search."),
    (r"[^\W\d]", "Put texts in quotes, and write members as @.name."),
)

UNCOMPARED = _table(*_AFTER_TEST, (r"", "Compare this value; alone it is neither true nor false."))

MANY_NODES = "Take count() or value() of it, or leave out '..', '*', slices, filters and lists."

LOGICAL_CALL = "Use this function alone; its result is true or false and is not compared."

TEXT = _table(
    (r"\\u", "Write \\u with four hexadecimal digits, and surrogates in pairs."),
    (r"\\", "Put a backslash only before the quote in use, / \\ b f n r t or u."),
    (r"[\x00-\x1f]", "Write control characters as \\n, \\t or \\u0000."),
)
