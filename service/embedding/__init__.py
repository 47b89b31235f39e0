"""Vectors of texts: a model of our own, one in a directory, or one behind a server. Implements `core.ports.Embedder`."""
