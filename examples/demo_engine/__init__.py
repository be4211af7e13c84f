"""A small LLM serving engine in plain PyTorch on CPU: something to trace where there is no GPU.

It has what large engines have (continuous batching, chunked prefill, paged KV blocks, preemption by
recompute, an HTTP server) in a few short files, and knows nothing of the tracer that watches it.
"""
