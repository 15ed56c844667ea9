"""Recording on several GPUs and machines: Dask hands tasks to workers, one at a time each."""
