"""Programs that embed texts when asked, each a process of its own: ours and the peers, all on the same weights."""
