"""Table 3: the model of intents and slots of Liu et al. (2019) with other encoders."""
