"""Asks people for help from Playwright for Python, synchronous or not."""


def request_takeover(page, reason, on_link=None, **options):
    """Asks for a person in the session to which the page's browser is connected, and waits for the end.

    Returns the takeover as the API has it: a dict with state, note, changes and others. options are note,
    timeout (milliseconds) and until (a selector or a glob for the address). on_link gets {"id", "url"} at once.
    """
    protocol = page.context.new_cdp_session(page)
    try:
        if on_link:
            protocol.on("Takeover.requested", on_link)
        return protocol.send("Takeover.request", {"reason": reason, **options})
    finally:
        protocol.detach()


async def request_takeover_async(page, reason, on_link=None, **options):
    """Does the same with Playwright's asynchronous API."""
    protocol = await page.context.new_cdp_session(page)
    try:
        if on_link:
            protocol.on("Takeover.requested", on_link)
        return await protocol.send("Takeover.request", {"reason": reason, **options})
    finally:
        await protocol.detach()
