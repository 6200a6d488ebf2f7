"""The landing page: what came back, at a glance."""
