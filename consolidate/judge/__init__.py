"""The judge: what two facts are to each other, decided in layers that each give a reason."""
