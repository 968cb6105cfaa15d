"""What the notes show beyond their claims: the toy problem of Section 3, on a page of its own."""

from fedtheory.sources.renard2022.exhibits.page import toy_page

PAGES = (toy_page,)
