"""What several papers train and test."""
