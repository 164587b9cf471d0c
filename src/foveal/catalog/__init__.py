"""Look up what is known of a model: limits, tokenizer, cache rules, prices.

Limits and tokenizers come from the bundled `models.toml`, prices from the genai-prices package; a file of the
user, with the structure of ours, overrides both. The package is imported only for prices and for models that
no file names: importing it takes about 0.3 s and loads a web client, and a window needs neither.
"""

from foveal.catalog.cards import ModelCard, Prices
from foveal.catalog.lookup import doubt, find, models, prices
from foveal.catalog.names import checked

__all__ = ["ModelCard", "Prices", "checked", "doubt", "find", "models", "prices"]
