"""Speed of the embedded model as ratios: beside peers on the same weights, and beside what the machine could do."""
