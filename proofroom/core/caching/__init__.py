"""What is kept so that it need not be made again: whole answers, fragments and outlines of pages, posts and answers
before Django, forms that were accepted; the lease that says whether they still hold; and Redis as Django's cache."""
