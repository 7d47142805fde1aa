"""Monitoring for operators."""
