"""What a page may load: the Content-Security-Policy, and no file that no page needs."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

_STYLE = re.compile(r"<style\b|<[^>]+\sstyle=\"[^\"]*\"")


def apply_policy(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Leave out what the policy forbids or no page uses; warn of a style that would be left out."""
    policy = context["content_security_policy"] = app.config.second_call_content_security_policy
    for files in ("script_files", "css_files"):
        context[files] = [
            asset
            for asset in context[files]
            # The theme adds scripts without a file; a policy forbids them, and nothing misses them.
            if (asset.filename or not policy)
            and Path(asset.filename or "").name not in app.config.second_call_unused_assets
        ]
    if policy and (found := _STYLE.search(context.get("body", ""))):
        logger.warning(
            "the policy of the site forbids a style inside of a page, so that browsers leave out "
            "%r; give the element a class, and a rule in _static/site.css",
            found[0],
            location=pagename,
            type="second_call",
            subtype="style",
        )
