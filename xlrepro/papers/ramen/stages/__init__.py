"""From an English to a bilingual model: initialisation, then tuning in two stages."""
