"""Operations: everything that people and programs may ask of a backend or have it do, each declared once."""
