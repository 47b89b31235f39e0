"""HTTP: bytes to Structs, the engine, Structs to bytes."""
