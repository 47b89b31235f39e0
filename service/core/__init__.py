"""The vocabulary of scoring: a case, an evaluator, a verdict, an outcome. Imports primitives only."""
