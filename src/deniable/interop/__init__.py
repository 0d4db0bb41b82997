"""Other systems' files, read into our nouns and written from them."""
