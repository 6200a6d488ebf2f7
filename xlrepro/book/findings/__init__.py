"""Findings pages: a paper in ten minutes, in sentences that are true of today's numbers."""
