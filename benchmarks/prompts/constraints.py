"""What both sides check of every response: JSON, few words, a keyword, a pattern."""

MOST_WORDS = 8
KEYWORD = "Refund"
PATTERN = r"[A-Z]{2}-\d{4,}"
