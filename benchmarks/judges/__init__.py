"""Judges under load: batches that wait for a server which takes its time, and now and then refuses."""
