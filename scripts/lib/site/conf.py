"""How sphinx makes pages of the documents (scripts/site)."""
import functools
import gc

project = "coldtrace"
author = "coldtrace"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "coldtrace"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_last_updated_fmt = None
myst_heading_anchors = 4
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]

# Sphinx makes millions of nodes that live on; to look for garbage among them takes two fifths of the time.
gc.disable()


def setup(app):
    """Pages that are in no tree have the same one beside them in all of a folder: it is made for the first."""
    trees = {}

    def share(app, page, _template, context, _document):
        if "orphan" in app.env.metadata.get(page, ()):
            context["toctree"] = trees.setdefault(page.rpartition("/")[0], functools.cache(context["toctree"]))

    app.connect("html-page-context", share, priority=400)  # before the theme's, which writes the tree
