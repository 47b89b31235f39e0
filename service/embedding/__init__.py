"""Vectors of texts: from a model of ours, one in a directory or one behind a server. Implements `core.ports.Embedder`."""
