"""What several papers train and test: data by name, tagging, classification, parsing."""
