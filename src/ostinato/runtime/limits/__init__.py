"""What a session may hold and how long a call may take."""
