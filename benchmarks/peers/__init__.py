"""What the service is measured against. Nothing of the service imports from here."""
