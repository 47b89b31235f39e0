"""The evaluators, one module a family; each class is complete in itself."""
