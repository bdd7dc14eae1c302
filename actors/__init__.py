"""The imperative shell: asyncio actors that carry out what the core decides."""
