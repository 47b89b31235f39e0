"""Judges behind HTTP: how they are asked, how hard, and what they answer."""
