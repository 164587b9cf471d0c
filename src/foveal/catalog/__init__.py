"""The name of a model in, what is known of it out: limits, tokenizer, cache rules, prices.

Limits and tokenizers come from `models.toml` beside this file, prices from the genai-prices package; a file
of the user's, in the shape of ours, wins over both. The package is asked only for prices and for models that
no file names: importing it takes about 0.3 s and brings a web client along, and a window needs neither.
"""

from foveal.catalog.cards import UNKNOWN_CONTEXT, ModelCard, Prices
from foveal.catalog.lookup import find, models, prices

__all__ = ["UNKNOWN_CONTEXT", "ModelCard", "Prices", "find", "models", "prices"]
