"""The domains and the name of the operator ScatterX."""

DOMAIN = "onnx_scatterx"
OPERATOR = "ScatterX"
FUNCTIONS = 8  # the IR version that has model-local functions


def domain_of(number: int) -> str:
    """Return the domain of the ScatterX nodes with a model's first, second, ... fallback.

    Overloads could distinguish functions of one domain and name. But ONNX Runtime before 1.27
    ignores them, and 1.31 does not find a function with an overload for a node within a function.
    The library has the operator in the first 8 domains; a node of a later domain always runs by its
    fallback.

    >>> domain_of(1), domain_of(2)
    ('onnx_scatterx', 'onnx_scatterx.2')
    """
    return DOMAIN if number == 1 else f"{DOMAIN}.{number}"


def is_scatterx_domain(domain: str) -> bool:
    """Return whether a domain is one of the operator's.

    >>> is_scatterx_domain("onnx_scatterx.12"), is_scatterx_domain("onnx_scatterx_more")
    (True, False)
    """
    return domain == DOMAIN or domain.startswith(f"{DOMAIN}.")
