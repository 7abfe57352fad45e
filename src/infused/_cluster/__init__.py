"""Everything that knows Dask: the block that uses a cluster, and the work that other rooms hand to it."""
