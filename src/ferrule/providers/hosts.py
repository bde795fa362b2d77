"""Which base URLs lead to this machine or a private network."""

from urllib.parse import urlsplit

_SHARED = "100.64.0.0/10"


def host_of(base_url: str) -> str:
    """The host in lower case, empty where the URL has none or its port is no port."""
    try:
        parts = urlsplit(base_url)
        return (parts.hostname or "").lower() if parts.port != 0 else ""
    except ValueError:
        return ""


def is_loopback(base_url: str) -> bool:
    host = host_of(base_url)
    return host in ("localhost", "::1") or host.endswith(".localhost") or (host.startswith("127.") and host.count(".") == 3)


def is_local(base_url: str) -> bool:
    """Loopback, a private or link-local address, the shared range of carrier NAT and overlay networks, or a `.local` name."""
    host = host_of(base_url)
    if is_loopback(base_url) or host.endswith(".local"):
        return True
    if not host or not (host[0].isdigit() or ":" in host):
        return False
    from ipaddress import ip_address, ip_network

    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_private or address.is_link_local or address in ip_network(_SHARED)


def is_openai(base_url: str) -> bool:
    """OpenAI's own service, which knows parameters that servers that copy its dialect may refuse."""
    host = host_of(base_url)
    return host == "openai.com" or host.endswith(".openai.com")
