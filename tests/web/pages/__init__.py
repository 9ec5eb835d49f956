"""Pages: what people see, and who tries to get more out of them."""
