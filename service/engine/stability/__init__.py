"""POST /v1/prompt-metrics: how far several responses to one query agree, and how far they do what they should."""
