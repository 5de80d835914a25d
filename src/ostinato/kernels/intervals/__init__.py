"""Situations derived from rows, and combinations of them in Allen's relations."""
