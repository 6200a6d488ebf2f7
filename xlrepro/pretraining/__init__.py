"""Masked-language-model pretraining: a small multilingual BERT from registered open text."""
