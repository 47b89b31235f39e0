"""What paths select, in the default dialect unless a case names another."""

from typing import Any, NamedTuple

import pytest

from service.primitives.jsonpath import DIALECTS, compile_path

ACTIONS = {
    "generatedData": {
        "invokedActions": [
            {"function": {"name": "GetAccountInfo", "input": {"accountId": "001ABC"}, "result": "Success"}},
            {
                "function": {"name": "CreateCase", "input": {}, "result": "Success: 500x1"},
                "additionalContext": [{"value": "first"}, {"value": "second"}],
            },
            {
                "function": {
                    "name": "ComplexAction",
                    "input": {"metadata": {"customField": {"value": "deep"}}},
                    "result": None,
                }
            },
            {"function": {"name": "SendEmail", "input": {"to": "alice@example.com", "subject": "Project Update"}}},
            {"function": {"name": "SendEmail", "input": {"to": "carol@example.com", "subject": "Other"}}},
            {"function": {"name": "FormatPhoneNumber", "result": "+1 555"}},
            {"note": "no function here"},
        ],
        "latencyMs": 2500,
        "apiCallCount": 3,
    }
}
DRAFT = {
    "generatedData": {
        "invokedActions": [
            {
                "function": {
                    "name": "DraftGenericReplyEmail",
                    "input": {"recipient": "alice@example.com", "subject": "Re: Project Update"},
                    "result": "Success",
                }
            },
            {"function": {"name": "OtherFunction", "input": {"recipient": "bob@example.com"}}},
        ]
    }
}
NESTED_ACTIONS = {
    "generatedData": {
        "invokedActions": [
            [{"function": {"name": "CreateCase", "result": "Success"}}, {"function": {"name": "Other", "result": "No"}}]
        ]
    }
}
STORE = {
    "store": {
        "book": [
            {"category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95},
            {"category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99},
            {
                "category": "fiction",
                "author": "Herman Melville",
                "title": "Moby Dick",
                "isbn": "0-553-21311-3",
                "price": 8.99,
            },
            {
                "category": "fiction",
                "author": "J. R. R. Tolkien",
                "title": "The Lord of the Rings",
                "isbn": "0-395-19395-8",
                "price": 22.99,
            },
        ],
        "bicycle": {"color": "red", "price": 19.95},
    },
    "expensive": 10,
}
MIXED: dict[str, Any] = {
    "xs": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "o": {"p": 1, "q": 2},
    "e": [],
    "s": "hello",
    "n": None,
    "objs": [
        {"id": 1, "v": 10, "t": "x", "ok": True},
        {"id": 2, "v": 20.5, "t": "y", "ok": False, "tags": ["red", "blue"]},
        {"id": 3, "v": None, "t": "X", "tags": []},
        {"id": 4, "t": "xyz", "nested": {"id": 1}},
        {"id": "2", "v": "20"},
        7,
        "str",
        None,
        [1, 2],
    ],
}
NAMES = {
    "a.b": 1, "a-b": 2, "a b": 3, "ünï": 4, "日本": 5, "it's": 6, 'q"q': 7, "": 8, "a": {"b": 9}, "$x": 10, "@y": 11,
    "back\\slash": 12, "0": "zero", "*": "star", "length": 13, "null": 14, "true": 15, "😀": 16,
}  # fmt: skip


def action(name: str, rest: str) -> str:
    return f"$.generatedData.invokedActions[*][?(@.function.name == '{name}')]{rest}"


class Case(NamedTuple):
    name: str
    path: str
    document: Any
    values: list[Any]
    dialect: str = "jayway"


CASES = [
    Case(
        "recipient of an action",
        action("DraftGenericReplyEmail", ".function.input.recipient"),
        DRAFT,
        ["alice@example.com"],
    ),
    Case(
        "subject of an action",
        action("DraftGenericReplyEmail", ".function.input.subject"),
        DRAFT,
        ["Re: Project Update"],
    ),
    Case("result of an action", action("DraftGenericReplyEmail", ".function.result"), DRAFT, ["Success"]),
    Case("input field by action", action("GetAccountInfo", ".function.input.accountId"), ACTIONS, ["001ABC"]),
    Case("result by action", action("CreateCase", ".function.result"), ACTIONS, ["Success: 500x1"]),
    Case("result of another action", action("FormatPhoneNumber", ".function.result"), ACTIONS, ["+1 555"]),
    Case("input field that is missing", action("DraftEmail", ".function.input.body"), ACTIONS, []),
    Case(
        "two actions of one name",
        action("SendEmail", ".function.input.to"),
        ACTIONS,
        ["alice@example.com", "carol@example.com"],
    ),
    Case("subjects of both", action("SendEmail", ".function.input.subject"), ACTIONS, ["Project Update", "Other"]),
    Case("element after a filter", action("CreateCase", ".additionalContext[0].value"), ACTIONS, ["first"]),
    Case(
        "deep value after a filter",
        action("ComplexAction", ".function.input.metadata.customField.value"),
        ACTIONS,
        ["deep"],
    ),
    Case("null is a value", action("ComplexAction", ".function.result"), ACTIONS, [None]),
    Case("placeholder names", action("ActionName", ".function.input.fieldName"), ACTIONS, []),
    Case("latency", "$.generatedData.latencyMs", ACTIONS, [2500]),
    Case("call count", "$.generatedData.apiCallCount", ACTIONS, [3]),
    Case(
        "all action names",
        "$.generatedData.invokedActions[0,1].function.name",
        ACTIONS,
        ["GetAccountInfo", "CreateCase"],
    ),
    Case("wildcard over arrays in the array", action("CreateCase", ".function.result"), NESTED_ACTIONS, ["Success"]),
    Case(
        "filter without wildcard",
        "$.generatedData.invokedActions[?(@.function.name == 'CreateCase')].function.result",
        ACTIONS,
        ["Success: 500x1"],
    ),
    Case("number of actions", "$.generatedData.invokedActions.length()", ACTIONS, [7]),
    # Names
    Case("quoted name with a dot", "$['a.b']", NAMES, [1]),
    Case("quoted name with a dollar", "$['$x']", NAMES, [10]),
    Case("quoted star is a name", "$['*']", NAMES, ["star"]),
    Case("emoji", "$.😀", NAMES, [16]),
    Case("ideographs", "$.日本", NAMES, [5]),
    Case("hyphen", "$.a-b", NAMES, [2]),
    Case("empty name", "$['']", NAMES, [8]),
    Case("apostrophe", r"$['it\'s']", NAMES, [6]),
    Case("apostrophe in double quotes", '$["it\'s"]', NAMES, [6]),
    Case("double quote in single quotes", "$['q\"q']", NAMES, [7]),
    Case("backslash", r"$['back\\slash']", NAMES, [12]),
    Case("escaped code units", r"$['\ud83d\ude00','\u65e5\u672c']", NAMES, [16, 5]),
    Case("two names in order", "$['a b','a-b']", NAMES, [3, 2]),
    Case("keywords are names", "$['null','true']", NAMES, [14, 15]),
    Case("dotted keywords", "$.null", NAMES, [14]),
    Case("length is a name without parentheses", "$.length", NAMES, [13]),
    Case("index selects no member", "$[0]", NAMES, []),
    Case("blanks around", " \n$.length\t", NAMES, [13]),
    Case("blanks inside", "$ .a [ 'b' ]", NAMES, [9]),
    # Arrays
    Case("last element", "$.xs[-1]", MIXED, [9]),
    Case("before the first element", "$.xs[-11]", MIXED, []),
    Case("slice", "$.xs[1:3]", MIXED, [1, 2]),
    Case("slice to beyond the end", "$.xs[0:9007199254740991]", MIXED, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    Case("negative step", "$.xs[::-3]", MIXED, [9, 6, 3, 0]),
    Case("negative step between bounds", "$.xs[5:1:-2]", MIXED, [5, 3]),
    Case("step of zero", "$.xs[::0]", MIXED, []),
    Case("wildcard over nothing", "$.e[*]", MIXED, []),
    Case("index and slice", "$.xs[1,5:7]", MIXED, [1, 5, 6]),
    # Descent
    Case("descent keeps the document's order", "$..price", STORE, [8.95, 12.99, 8.99, 22.99, 19.95]),
    Case("filter after descent tests each object once", "$..[?(@.price > 19)].price", STORE, [22.99, 19.95]),
    Case("filter after descent tests the start", "$..[?(@.expensive)].expensive", STORE, [10]),
    Case("filter after descent reaches primitives in arrays", "$..[?@ == 'red']", MIXED, ["red"]),
    Case("filter after descent tests arrays in arrays", "$..[?@[1] == 2]", MIXED, [[1, 2]]),
    Case(
        "root in a filter",
        "$..book[?(@.price <= $['expensive'])].title",
        STORE,
        ["Sayings of the Century", "Moby Dick"],
    ),
    # Filters on objects
    Case("object tests itself", "$.generatedData[?(@.latencyMs > 1000)].latencyMs", ACTIONS, [2500]),
    Case("object fails its own test", "$.generatedData[?(@.latencyMs > 3000)].latencyMs", ACTIONS, []),
    Case("members are not tested", "$.o[?@ == 1]", MIXED, []),
    Case("members are tested in RFC 9535", "$.o[?@ == 1]", MIXED, [1], "rfc9535"),
    Case("primitive has nothing to filter", "$.s[?@ == 'hello']", MIXED, []),
    Case("filter in a filter", "$.objs[?@.nested[?@.id == 1]].id", MIXED, [4]),
    # Tests
    Case("number above", "$.objs[?(@.v > 15)].id", MIXED, [2]),
    Case("existence is not truth", "$.objs[?(@.ok)].id", MIXED, [1, 2]),
    Case("existence of null", "$.objs[?@.v].id", MIXED, [1, 2, 3, "2"]),
    Case("absence", "$.objs[?(!@.v && @.id)].id", MIXED, [4]),
    Case("text is no number", "$.objs[?@.id == '2'].v", MIXED, ["20"]),
    Case("or, and, parentheses", "$.objs[?(@.id == 1 || @.id == 2) && @.ok == true].id", MIXED, [1]),
    Case("negated parentheses", "$.xs[?!(@ > 1 && @ < 8)]", MIXED, [0, 1, 8, 9]),
    Case("constant on the left", "$.xs[?8 <= @]", MIXED, [8, 9]),
    Case("nested existence needs a hit", "$.objs[?@.tags[?@ == 'blue']].id", MIXED, [2]),
    Case(
        "big integers are exact",
        "$[?(@.id == 9007199254740993)].k",
        [{"id": 2**53, "k": "even"}, {"id": 2**53 + 1, "k": "odd"}],
        ["odd"],
    ),
    Case(
        "true is not 1",
        "$[?(@.f == 1)].k",
        [{"f": True, "k": "bool"}, {"f": 1, "k": "int"}, {"f": 1.0, "k": "float"}],
        ["int", "float"],
    ),
    Case(
        "true is not 1 within arrays",
        "$[?@ == $[0]]",
        [[1, {"a": 0}], [True, {"a": 0}], [1.0, {"a": -0.0}]],
        [[1, {"a": 0}], [1.0, {"a": -0.0}]],
    ),
    Case("booleans have no order", "$[?(@.f < 2)].k", [{"f": True, "k": "bool"}, {"f": 1, "k": "int"}], ["int"]),
    Case("equal null is at most null", "$[?@.a <= null].k", [{"a": None, "k": 1}, {"k": 2}], [1]),
    Case("both sides missing are equal", "$[?@.x == @.y].k", [{"k": 1}, {"x": None, "k": 2}], [1]),
    Case("missing differs from null", "$[?@.x != null].k", [{"k": 1}, {"x": None, "k": 2}], [1]),
    Case(
        "members in another order are equal",
        "$[?@.a == @.b].k",
        [{"a": {"x": 1, "y": 2}, "b": {"y": 2, "x": 1}, "k": 1}],
        [1],
    ),
    Case("arrays of other lengths differ", "$[?@.a == @.b]", [{"a": [1], "b": [1, 2]}], []),
    Case("objects with other names differ", "$[?@.a == @.b]", [{"a": {"x": 1}, "b": {"y": 1}}], []),
    Case("object is no array", "$[?@.a == @.b]", [{"a": {}, "b": []}], []),
    Case("texts in order of code points", "$[?@ < 'é']", ["e", "f", "é", "日"], ["e", "f"]),
    # Patterns
    Case("pattern matches from end to end", "$.objs[?@.t =~ /x.*/].id", MIXED, [1, 4]),
    Case("pattern without regard to case", "$.objs[?@.t =~ /x/i].id", MIXED, [1, 3]),
    Case("pattern in quotes", "$.objs[?(@.t =~ 'x|y')].id", MIXED, [1, 2]),
    Case("pattern with a slash", r"$[?@ =~ /a\/b/]", ["a/b", "ab"], ["a/b"]),
    Case("pattern over lines", "$[?@ =~ /a.b/s]", ["a\nb", "ab"], ["a\nb"]),
    Case("pattern on what is no text", "$.objs[?@.id =~ /.*/].id", MIXED, ["2"]),
    Case("match", r"$.objs[?match(@.t, '[xX]')].id", MIXED, [1, 3]),
    Case("search", "$.objs[?search(@.t, 'y')].id", MIXED, [2, 4]),
    Case("match takes no line end for a dot", "$[?match(@, '.')]", ["\n", "\r", "\u2028"], ["\u2028"]),
    Case(
        "groups, repeats and classes in a pattern",
        "$[?match(@, '(ab){2,}c?|[^b-z]')]",
        ["abab", "ab", "a"],
        ["abab", "a"],
    ),
    *(
        Case(f"no I-Regexp: {pattern}", f"$[?match(@, '{pattern}') || search(@, '{pattern}')]", ["a", "1", ""], [])
        for pattern in (r"\\d", "(", ")", "*", "a**", "(?i)a", "a{,2}", "[", "[a", r"\\p{Xx}", "a{2,1}", "[]", "[z-a]")
    ),
    # Functions
    Case(
        "length of a text",
        "$[?length(@) == 2]",
        ["日本", "😀", [1, 2], {"a": 1, "b": 2}, 12],
        ["日本", [1, 2], {"a": 1, "b": 2}],
    ),
    Case("count", "$.objs[?count(@.tags[*]) > 1].id", MIXED, [2]),
    Case("value", "$.objs[?value(@..id) == 1].v", MIXED, [10]),
    Case("call of a call", "$[?length(value(@..a)) == 3].k", [{"a": "abc", "k": 1}, {"b": {"a": [1]}, "k": 2}], [1]),
    Case("length of each node", "$[*].length()", ["日本", [], {"a": 1}, 5, None, True], [2, 0, 1]),
    Case("length in a filter", "$.objs[?@.tags.length() > 1].id", MIXED, [2]),
    Case("nothing below a length", "$.xs.length().x", MIXED, []),
    # Roots
    Case("root", "$", 5, [5]),
    Case("text is not read as JSON", "$", "[1,2]", ["[1,2]"]),
    Case("nothing below a text", "$[0]", "text", []),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_path_selects(case: Case) -> None:
    path = compile_path(case.path, case.dialect)
    assert repr(path.select(case.document)) == repr(case.values)
    assert [value for _, value in path.nodes(case.document)] == case.values


LOCATIONS = [
    ("root", "$", 5, ["$"]),
    ("members and elements", "$.a[*]", {"a": [1, 2]}, ["$['a'][0]", "$['a'][1]"]),
    ("negative index", "$[-1]", [1, 2], ["$[1]"]),
    ("slice", "$[::-2]", [1, 2, 3], ["$[2]", "$[0]"]),
    ("object that passes its own filter", "$.a[?@.b].b", {"a": {"b": 1}}, ["$['a']['b']"]),
    ("filter on an array", "$[?@ > 1]", [1, 2], ["$[1]"]),
    ("descent", "$..b", {"a": [{"b": 1}], "b": 2}, ["$['b']", "$['a'][0]['b']"]),
    ("length", "$.a.length()", {"a": "xy"}, ["$['a'].length()"]),
    ("quotes", "$.*", {"it's \"\\": 1}, [r"""$['it\'s "\\']"""]),
    ("short escapes", "$.*", {"\b\t\n\f\r": 1}, [r"$['\b\t\n\f\r']"]),
    ("other control characters", "$.*", {"\x00\x1f\x7f": 1}, [r"$['\u0000\u001f" + "\x7f']"]),
]


@pytest.mark.parametrize(
    ("path", "document", "locations"), [case[1:] for case in LOCATIONS], ids=[case[0] for case in LOCATIONS]
)
def test_nodes_have_normalized_paths(path: str, document: Any, locations: list[str]) -> None:
    assert [location for location, _ in compile_path(path).nodes(document)] == locations


def test_a_path_is_compiled_once() -> None:
    assert compile_path("$.a") is compile_path("$.a", "jayway")
    assert compile_path("$.a", "rfc9535") is not compile_path("$.a")


def test_every_dialect_compiles() -> None:
    assert [compile_path("$.a", dialect).select({"a": 1}) for dialect in DIALECTS] == [[1]] * 3
