"""Speed, memory, scaling and correctness of infused, measured against peers in one run."""
