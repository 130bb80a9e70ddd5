"""Findings: what departs from a protocol, is damaged or contradicts the audit trail."""
