"""Vectors of texts: by a model of ours, in a directory, or behind a server. Implements `core.ports.Embedder`."""
