"""An `Endpoint` and a question in → a model's words or vectors out: the only way to the network.

A call ends within the endpoint's time-out, retries and pauses included, with an answer or an `UpstreamError`.
"""

from foveal.upstream.call import check, complete, embed, reach
from foveal.upstream.endpoint import Endpoint, Protocol, endpoint_at

__all__ = ["Endpoint", "Protocol", "check", "complete", "embed", "endpoint_at", "reach"]
