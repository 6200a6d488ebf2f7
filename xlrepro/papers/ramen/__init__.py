"""From English to foreign languages (RAMEN): tables, figures, tasks."""
