"""Synchronous code under asyncio: one implementation serves both."""
