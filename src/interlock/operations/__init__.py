"""Operations: everything that people and programs may ask of a backend, each operation declared once."""
