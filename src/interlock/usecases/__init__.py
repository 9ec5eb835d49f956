"""Use cases: the actions. Load, ask the domain, act; one public function per file."""
