"""Call the model behind an `Endpoint` for a completion or for vectors. Nothing else opens connections.

A call ends within the endpoint's timeout, retries and pauses included, with a response or an `UpstreamError`.
"""

from foveal.upstream.call import check, complete, embed, reach
from foveal.upstream.endpoint import Endpoint, endpoint_at

__all__ = ["Endpoint", "check", "complete", "embed", "endpoint_at", "reach"]
