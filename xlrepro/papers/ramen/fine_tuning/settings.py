"""What decides a trial whose encoder is tuned with the head."""

from xlrepro.papers.ramen.settings import Count, EvaluationSettings, Rate


class FineTuningSettings(EvaluationSettings):
    """Everything that decides the numbers of one trial, besides its seed and data.

    Attributes:
        tuned_epochs: passes over the training examples with the encoder, after the head's own.
        tuned_rate: Adam's learning rate of encoder and head in these.
    """

    tuned_epochs: Count
    tuned_rate: Rate
