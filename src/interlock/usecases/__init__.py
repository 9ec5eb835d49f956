"""Use cases: what we do. Load, ask the domain, act; one public function a file."""
