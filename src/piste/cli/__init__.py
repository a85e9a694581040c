"""What a person sees. Draws views and reads decisions; holds no rule and no state."""
