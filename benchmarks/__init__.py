"""Speed as ratios: the service beside a bare application and beside peers, in one run on one machine."""
