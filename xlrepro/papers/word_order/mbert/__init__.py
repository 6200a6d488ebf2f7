"""The rows on M-BERT of Tables 1 and 2: encoders on its frozen outputs, and M-BERT fine-tuned."""
