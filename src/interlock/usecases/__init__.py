"""Use cases: what Interlock does. Load, ask the domain, act; one public function per file."""
